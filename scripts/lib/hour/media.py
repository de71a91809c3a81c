"""Media and ports of live streams that origin.py serves."""
import pathlib
import socket
import subprocess

ORIGIN = pathlib.Path(__file__).with_name("origin.py")


def make_media(folder, seconds=120):
    picture = f"testsrc2=s=640x360:r=25:d={seconds}"
    sound = f"sine=f=440:r=48000:d={seconds}"
    sizes = [(0, "320:180", "150k"), (1, "640:360", "400k")]
    command = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", sound]
    for index, size, rate in sizes:
        command += ["-map", "0:v", "-map", "1:a", "-vf", f"scale={size}", "-c:v", "libx264", "-preset", "veryfast",
                    "-profile:v", "baseline", "-b:v", rate, "-maxrate", rate, "-bufsize", rate, "-g", "100",
                    "-keyint_min", "100", "-sc_threshold", "0", "-c:a", "aac", "-b:a", "64k", "-f", "hls", "-hls_time",
                    "4", "-hls_list_size", "0", "-hls_segment_filename", f"v{index}_%03d.ts", f"v{index}.m3u8"]
    subprocess.run(command, cwd=folder, check=True)
    return min(len(list(folder.glob(f"v{index}_*.ts"))) for index, _, _ in sizes)


def free_ports(count, rng):
    """Below those that the system gives to connections: an origin has to get its port back."""
    ports = []
    while len(ports) < count:
        port = rng.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in ports:
            ports.append(port)
    return ports
