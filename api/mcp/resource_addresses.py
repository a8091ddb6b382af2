"""Where what a tool returns can be opened: by a person in a browser, or else by the client as a resource."""

from api.dialects.annotated_text import SourceAddresses
from graph.evidence import Citation
from tools.auth.document_links import LinkSigner


class ResourceAddresses(SourceAddresses):
    """Addresses of segments: http where the service has an address, those of resources where it has none."""

    def __init__(self, base_url: str, signer: LinkSigner | None) -> None:
        super().__init__(base_url, signer)
        self._is_served = bool(base_url)

    def _page(self, document_id: str, segment_index: int, citation: Citation | None = None) -> str:
        if self._is_served:
            return super()._page(document_id, segment_index, citation)
        return f"citewell://documents/{document_id}/segments/{segment_index}"
