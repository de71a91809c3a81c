import TestSupport

extension ScriptedOrigin {
    /// `vod.m3u8` with ten segments of 4 s.
    static func vod(count: Int = 10, _ change: (inout PlaylistText) -> Void = { _ in }) -> Self {
        var text = PlaylistText.numbered(0, count: count, isEnded: true)
        change(&text)
        var origin = Self()
        origin.answer("vod.m3u8", .text(text))
        return origin
    }

    static func multivariant(_ bandwidths: KeyValuePairs<String, Int>, extra: [String] = [], audio: String? = nil)
        -> Self
    {
        var origin = Self()
        var lines = ["#EXTM3U"] + extra
        for (name, bandwidth) in bandwidths {
            lines.append("#EXT-X-STREAM-INF:BANDWIDTH=\(bandwidth)" + (audio.map { ",AUDIO=\"\($0)\"" } ?? ""))
            lines.append("\(name).m3u8")
        }
        origin.answer("main.m3u8", .text(lines.joined(separator: "\n") + "\n"))
        return origin
    }

    /// Two variants with ten segments each: `a` with 3 Mbit/s and `b` with 1 Mbit/s.
    static func twoVariants(count: Int = 10) -> Self {
        var origin = multivariant(["a": 3_000_000, "b": 1_000_000])
        for name in ["a", "b"] {
            origin.answer("\(name).m3u8", .text(.numbered(0, count: count, prefix: name, isEnded: true)))
        }
        return origin
    }

    static func live(_ broadcast: Broadcast = .init()) -> Self {
        var origin = Self()
        origin.broadcast("live.m3u8", broadcast)
        return origin
    }
}
