/** Goes on from a document's page without scripts to the same place in the viewer. */
{
  const [, kind, name] = /\/(documents|links)\/([^/]+)$/.exec(location.pathname) ?? [];
  const asked = new URLSearchParams(location.search);
  const segment = /^#segment-(\d+)$/.exec(location.hash)?.[1];
  if (segment && kind === "documents") asked.set("segment", segment);
  const query = asked.size && kind === "documents" ? `?${asked}` : "";
  if (kind) location.replace(`../#/${kind}/${name}${query}`);
}
