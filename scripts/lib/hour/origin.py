"""An origin of scripts/monitor-hour: serves live streams whose playlists are computed from the clock.

    origin.py FOLDER INDEX

Reads FOLDER/plan.json and the segments beside it. Nothing is kept between requests: an origin that was killed goes on, once
it is begun again, where its encoders would be by then. The clock is CLOCK_MONOTONIC, which all processes share.
"""
import asyncio
import json
import pathlib
import sys
import time

SEGMENT = 4.0  # seconds
WINDOW = 6  # segments
VARIANTS = [("320x180", 260_000), ("640x360", 620_000)]
HTML = b"<!DOCTYPE html><title>Sign in</title><p>Please sign in to the network.\n"


class Stream:
    """What the encoder of one stream has listed by a time."""

    def __init__(self, number, faults, length):
        self.length = length  # segments of the media, which is repeated
        self.phase = (number * 0.618034 % 1) * SEGMENT
        self.faults = faults
        self.stands = [(f["start"], f["end"]) for f in faults if f["kind"] == "stand"]
        # Runs of the encoder: when it listed its first segments, how many, their first number, discontinuities before.
        self.runs = [(-100 * SEGMENT + self.phase, 0, 1000 + number, 0, None)]
        for fault in faults:
            begun, count, first, breaks, _ = self.runs[-1]
            last = first + count + int((fault["start"] - begun) / SEGMENT)
            if fault["kind"] == "end":
                self.runs[-1] = (begun, count, first, breaks, fault["start"])
                self.runs.append((fault["end"], 3, 0, breaks + last // length + 1, None))
            elif fault["kind"] == "restart":
                self.runs[-1] = (begun, count, first, breaks, None)
                self.runs.append((fault["end"], 1, 0, breaks + last // length + 1, None))

    def fault(self, now):
        return next((f["kind"] for f in self.faults if f["start"] <= now < f["end"]), None)

    def playlist(self, now, date):
        run = max(i for i, one in enumerate(self.runs) if i == 0 or one[0] <= now)
        begun, count, first, breaks, end = self.runs[run]
        restart = next((f for f in self.faults if f["kind"] == "restart" and f["start"] <= now < f["end"]), None)
        by = min(now, end if end is not None else now, restart["start"] if restart else now)
        stood = sum(min(by, b) - a for a, b in self.stands if begun <= a < by)
        behind = first + count + int((by - begun - stood) / SEGMENT)
        lowest = max(first, behind - WINDOW)
        lines = ["#EXTM3U", "#EXT-X-VERSION:3", f"#EXT-X-TARGETDURATION:{SEGMENT:.0f}",
                 f"#EXT-X-MEDIA-SEQUENCE:{lowest}", f"#EXT-X-DISCONTINUITY-SEQUENCE:{breaks + lowest // self.length}"]
        for number in range(lowest, behind):
            if number % self.length == 0 and number > lowest:
                lines.append("#EXT-X-DISCONTINUITY")
            if number == lowest:
                at = begun + (number - first - count) * SEGMENT
                for a, b in self.stands:
                    at += b - a if begun <= a < at else 0
                at += date
                stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
                lines.append(f"#EXT-X-PROGRAM-DATE-TIME:{stamp}.{int(at % 1 * 1000):03d}Z")
            lines += [f"#EXTINF:{SEGMENT:.3f},", f"{number}.ts"]
        if end is not None and now >= end:
            lines.append("#EXT-X-ENDLIST")
        return "\n".join(lines) + "\n"


class Origin:
    def __init__(self, folder, index):
        plan = json.loads((folder / "plan.json").read_text())
        self.began, self.date = plan["began"], plan["date"]
        self.segments = [[(folder / f"v{v}_{n:03d}.ts").read_bytes() for n in range(plan["length"])]
                         for v in range(len(VARIANTS))]
        self.streams = {name: Stream(one["number"], one["faults"], plan["length"])
                        for name, one in plan["streams"].items() if one["origin"] == index}
        self.port = plan["ports"][index]

    def answer(self, path):
        now = time.monotonic() - self.began
        parts = path.split("?")[0].strip("/").split("/")
        stream = self.streams.get(parts[0])
        if stream is None:
            return 404, "text/plain", b"no such stream\n"
        fault = stream.fault(now)
        is_playlist = path.endswith(".m3u8")
        if fault == "busy":
            return 503, "text/plain", b"busy\n"
        if fault == "html" and is_playlist:
            return 200, "text/html", HTML
        if fault == "missing" and not is_playlist:
            return 404, "text/plain", b"no such segment\n"
        try:
            if parts[1] == "master.m3u8":
                lines = ["#EXTM3U"]
                for v, (size, rate) in enumerate(VARIANTS):
                    lines += [f'#EXT-X-STREAM-INF:BANDWIDTH={rate},RESOLUTION={size},FRAME-RATE=25.000,'
                              'CODECS="avc1.42c01e,mp4a.40.2"', f"v{v}/live.m3u8"]
                return 200, "application/vnd.apple.mpegurl", ("\n".join(lines) + "\n").encode()
            if is_playlist:
                return 200, "application/vnd.apple.mpegurl", stream.playlist(now, self.date).encode()
            number = int(parts[2].removesuffix(".ts"))
            return 200, "video/mp2t", self.segments[int(parts[1][1:])][number % stream.length]
        except (IndexError, ValueError):
            return 404, "text/plain", b"no such file\n"


class Connection(asyncio.Protocol):
    def __init__(self, origin):
        self.origin, self.buffer = origin, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            path = self.buffer.split(b" ", 2)[1].decode("latin-1")
            self.buffer = self.buffer[end + 4:]
            status, kind, body = self.origin.answer(path)
            self.transport.writelines([
                (f"HTTP/1.1 {status} -\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n").encode(), body])


async def serve(origin):
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(origin), "127.0.0.1", origin.port, backlog=1024,
                                      reuse_address=True)
    await server.serve_forever()


asyncio.run(serve(Origin(pathlib.Path(sys.argv[1]), int(sys.argv[2]))))
