"""The types of numpy, pandas, polars and pyarrow. None of these is imported to write.

In: an array, frame or table. Out: its data, as buffers and simple values; and back.

    numpy_arrays.py    arrays, scalars, data types, masked arrays
    numpy_dtypes.py    data types as plain values
    numpy_contents.py  what is in an array: bytes, texts, objects, structures
    pandas_frames.py   frames, series, indexes
    pandas_arrays.py   pandas's own arrays and scalars
    polars.py          frames and series
    arrow.py           pyarrow's tables, batches, arrays, scalars; its streams, looked at
"""
