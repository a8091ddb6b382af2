"""Routes of the ag_ui dialect."""

from fastapi import APIRouter

router = APIRouter(tags=["ag_ui"])
