"""Moments in replies, written as the events of a run write them."""

from datetime import datetime
from typing import Annotated

from pydantic import PlainSerializer

from graph.events import moment

Moment = Annotated[datetime, PlainSerializer(moment, return_type=str)]
