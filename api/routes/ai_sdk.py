"""Routes of the ai_sdk dialect."""

from fastapi import APIRouter

router = APIRouter(tags=["ai_sdk"])
