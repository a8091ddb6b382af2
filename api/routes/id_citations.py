"""Routes of the id_citations dialect."""

from fastapi import APIRouter

router = APIRouter(tags=["id_citations"])
