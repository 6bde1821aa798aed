"""Classes with fields and attributes, rebuilt without validation and without their code.

In: an instance. Out: the values of its fields and attributes; and back.

    pydantic_models.py     pydantic 2, made of its parts
    pydantic_v1.py         `pydantic.v1`, `pydantic.ValidationError`
    python_objects.py      dataclasses, attrs, and objects of any other class
    langgraph_types.py     `Send`, items of the store
"""
