"""Classes with fields and attributes, rebuilt without validation and without their code.

In: an instance. Out: the values of its fields and attributes; and back.

    pydantic_models.py     pydantic 2
    pydantic_v1.py         `pydantic.v1`
    python_objects.py      dataclasses, attrs, and objects of any other class
    langgraph_types.py     `Send`, items of the store
    validation_errors.py   `pydantic.ValidationError`
    without_validation.py  how a pydantic model is made of its parts
"""
