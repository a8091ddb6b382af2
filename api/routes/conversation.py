"""Routes of the conversation dialect."""

from fastapi import APIRouter

router = APIRouter(tags=["conversation"])
