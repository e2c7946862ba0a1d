"""TLS uses the host name, although the connection goes to a checked address."""

import datetime as dt
import ssl

import pytest

from fingerpost.errors import SourceUnreachable
from fingerpost.net.client import Client
from fingerpost.net.request import Request
from fingerpost.net.transport import CheckedBackend, WireTransport
from tests.net.local_server import HOST, LIMITS, answer, names, serving

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


def serving_tls(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return serving(answer(body=b"hello"), tls=context)


def trusting(*certificates):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for certificate in certificates:
        context.load_verify_locations(certificate)
    return Client(transport=WireTransport(CheckedBackend({HOST}, resolve=names()), tls=context))


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
