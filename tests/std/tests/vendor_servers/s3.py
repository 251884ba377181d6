"""Starts the S3 server of moto with one bucket, prints its port, and stops when standard input is closed."""

import sys

import boto3
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
_, port = server.get_host_and_port()
client = boto3.client(
    "s3",
    endpoint_url=f"http://127.0.0.1:{port}",
    region_name="us-east-1",
    aws_access_key_id="key",
    aws_secret_access_key="secret",
)
client.create_bucket(Bucket="uploads")
print(port, flush=True)
for line in sys.stdin:
    # Each line is a key: prints the type and the disposition that the server stores.
    head = client.head_object(Bucket="uploads", Key=line.strip())
    print(head["ContentType"], head.get("ContentDisposition"), flush=True)
server.stop()
