"""What the agent answers with, besides its words."""

from pydantic import BaseModel, Field

__all__ = ["Trip"]


class Trip(BaseModel):
    """The trip that the agent proposes."""

    origin: str
    destination: str
    departs: str = Field(description="Time of departure, as in 07:46.")
    changes: tuple[str, ...] = Field(default=(), description="Stations where one changes trains.")
