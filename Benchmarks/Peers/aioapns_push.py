"""Sends updates through aioapns to a gateway on 127.0.0.1: the peer's side of Benchmarks/Scripts/peers."""

import argparse
import asyncio
import json
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol

words = argparse.ArgumentParser()
for name in ("port", "pushes", "connections", "streams"):
    words.add_argument(f"--{name}", type=int, required=True)
for name in ("certificate", "provider-key", "key-id", "team-id"):
    words.add_argument(f"--{name}", required=True)
words = words.parse_args()

GAMES = [
    {"id": "nba-2026-11-30-bos-nyk", "home": "BOS", "away": "NYK", "score": [98, 97], "period": "Q4", "clock": "1:12"},
    {"id": "nba-2026-11-30-den-lal", "home": "DEN", "away": "LAL", "score": [54, 61], "period": "Q2", "clock": "3:40"},
]
MESSAGE = {
    "aps": {
        "timestamp": 1795000000,
        "event": "update",
        "relevance-score": 71,
        "stale-date": 1795000600,
        "content-state": {"asOf": 1795000000, "games": GAMES},
    }
}


async def main() -> int:
    APNsProductionClientProtocol.APNS_SERVER = "127.0.0.1"
    APNsProductionClientProtocol.APNS_PORT = words.port
    context = ssl.create_default_context(cafile=words.certificate)
    context.set_alpn_protocols(["h2"])
    with open(words.provider_key, encoding="ascii") as key:
        client = APNs(
            key=key.read(),
            key_id=words.key_id,
            team_id=words.team_id,
            topic="com.example.lineup.push-type.liveactivity",
            max_connections=words.connections,
            ssl_context=context,
        )
    numbers = iter(range(words.pushes))
    accepted = 0

    async def sender() -> None:
        nonlocal accepted
        for number in numbers:
            answer = await client.send_notification(
                NotificationRequest(
                    device_token=f"{number:0160x}",
                    message=MESSAGE,
                    time_to_live=600,
                    priority=10,
                    push_type=PushType.LIVEACTIVITY,
                )
            )
            accepted += answer.is_successful

    await asyncio.gather(*(sender() for _ in range(words.connections * words.streams)))
    print(json.dumps({"accepted": accepted}))
    return 0 if accepted == words.pushes else 1


sys.exit(asyncio.run(main()))
