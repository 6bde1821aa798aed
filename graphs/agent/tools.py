"""The tools of the travel agent."""

from langchain_core.tools import tool

__all__ = ["CITIES", "find_trains", "forecast"]

CITIES = {
    "paris": ("Paris", "light rain until noon"),
    "rome": ("Rome", "sun and 24 degrees"),
    "vienna": ("Vienna", "clouds and a fresh wind"),
    "prague": ("Prague", "morning fog, then sun"),
}
"""The cities that the tools know, with their weather."""


@tool
def find_trains(origin: str, destination: str) -> str:
    """Find the next train between two cities."""
    return f"The 07:46 from {origin} reaches {destination} in the evening, with a change in Milan."


@tool
def forecast(city: str) -> str:
    """Tell tomorrow's weather in a city."""
    _, weather = CITIES.get(city.casefold(), (city, "weather that nobody has recorded"))
    return f"Tomorrow {city} has {weather}."
