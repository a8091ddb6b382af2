"""Routes of the self_rag dialect."""

from fastapi import APIRouter

router = APIRouter(tags=["self_rag"])
