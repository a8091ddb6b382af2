"""Routes of the openai dialect."""

from fastapi import APIRouter

router = APIRouter(tags=["openai"])
