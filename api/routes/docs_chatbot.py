"""Routes of the docs_chatbot dialect."""

from fastapi import APIRouter

router = APIRouter(tags=["docs_chatbot"])
