"""Routes of the docmost dialect."""

from fastapi import APIRouter

router = APIRouter(tags=["docmost"])
