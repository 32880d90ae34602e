"""Gives the model a tool of our own: a plain function with typed arguments.

python examples/own_tool.py "How warm is it in Lisbon, in Fahrenheit?"
"""

import asyncio
import sys

from everturn import CallEnded, ResultEvent, query, tool

CELSIUS = {"Lisbon": 21.0, "Oslo": 4.0}


@tool(reads_only=True, concurrent=True)
def temperature(city: str) -> str:
    """Tells the temperature in a city, in degrees Celsius."""
    if city not in CELSIUS:
        raise ValueError(f"no station in {city}; known: {', '.join(CELSIUS)}")
    return f"{CELSIUS[city]} °C"


async def main(prompt: str) -> int:
    async for event in query(prompt, builtin_tools=False, tools=[temperature], allowed_tools=["temperature"]):
        match event:
            case CallEnded(name=name, is_error=is_error):
                print(f"· {name} {'failed' if is_error else 'done'}")
            case ResultEvent() as result:
                print(result.text)
                return result.exit
    return 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(" ".join(sys.argv[1:]) or "How warm is it in Lisbon, in Fahrenheit?")))
