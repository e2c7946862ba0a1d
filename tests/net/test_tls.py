"""TLS uses the host name, although the connection goes to a checked address."""

import asyncio
import datetime as dt
import ssl
from dataclasses import replace

import pytest

from fingerpost.errors import SourceUnreachable
from fingerpost.net.client import Client
from fingerpost.net.request import Request
from fingerpost.net.streams import StreamBackend
from fingerpost.net.transport import CheckedBackend, WirePool
from tests.net.local_server import HOST, LIMITS, LOOPBACK, answer, names, serving

BIG = bytes(3_000_000)
x509 = pytest.importorskip("cryptography.x509")


def new_certificate(folder, name):
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(dt.datetime(2000, 1, 1, tzinfo=dt.UTC))
        .not_valid_after(dt.datetime(2999, 1, 1, tzinfo=dt.UTC))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    path = folder / f"{name}.pem"
    path.write_bytes(
        certificate.public_bytes(pem)
        + key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return path


def serving_tls(certificate, reply=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return serving(reply or answer(body=b"hello"), tls=context)


def trusting(*certificates):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for certificate in certificates:
        context.load_verify_locations(certificate)
    return Client(pool=WirePool(CheckedBackend({HOST}, resolve=names()), tls=context))


async def test_the_certificate_is_checked_against_the_name(tmp_path):
    own = new_certificate(tmp_path, HOST)
    async with serving_tls(own) as server, trusting(own) as client:
        got = await client.fetch(Request(url=server.url, limits=LIMITS))

    assert got.body == b"hello"


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_certificate_that_is_not_the_names_or_not_trusted_is_refused(tmp_path, trusted):
    other = new_certificate(tmp_path, "other.example") if trusted else new_certificate(tmp_path, HOST)
    async with serving_tls(other) as server, trusting(*([other] if trusted else [])) as client:
        with pytest.raises(SourceUnreachable, match="certificate") as raised:
            await client.fetch(Request(url=server.url, limits=LIMITS))

    assert (raised.value.retryable, server.asked) == (False, [])


async def test_a_tls_server_that_closes_amid_its_response_is_unreachable(tmp_path):
    async def hang_up(writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello")

    own = new_certificate(tmp_path, HOST)
    async with serving_tls(own, hang_up) as server, trusting(own) as client:
        with pytest.raises(SourceUnreachable, match="before its response was complete"):
            await client.fetch(Request(url=server.url, limits=replace(LIMITS, attempts=1)))


async def test_a_tls_connection_that_was_reset_is_not_used_again(tmp_path):
    own = new_certificate(tmp_path, HOST)
    async with serving_tls(own) as server:
        plain = await StreamBackend().connect_tcp(LOOPBACK, server.port, 5)
        stream = await plain.start_tls(ssl.create_default_context(cafile=own), HOST, 5)
        stream._transport._ssl_protocol._transport.abort()
        # The connection has no socket now, and the stream learns of it in the next iteration of the loop.
        await asyncio.sleep(0)
        is_readable = stream.get_extra_info("is_readable")
        await stream.aclose()

    assert is_readable


async def test_a_large_tls_response_arrives_whole(tmp_path):
    own = new_certificate(tmp_path, HOST)
    async with serving_tls(own, answer(body=BIG)) as server, trusting(own) as client:
        got = await client.fetch(Request(url=server.url, limits=replace(LIMITS, max_bytes=len(BIG))))

    assert got.body == BIG


async def test_a_server_without_tls_is_unreachable():
    async def serve(reader, writer):
        await reader.read(1)
        writer.write(answer("400 Bad Request"))
        writer.close()

    server = await asyncio.start_server(serve, LOOPBACK, 0)
    url = f"https://{HOST}:{server.sockets[0].getsockname()[1]}"
    async with trusting() as client:
        with pytest.raises(SourceUnreachable, match="could not be reached"):
            await client.fetch(Request(url=url, limits=replace(LIMITS, attempts=1)))
    server.close()
