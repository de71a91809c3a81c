import Foundation

package enum CaptionStream {
    package static func file(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(SampleMedia.fixtures)/captions/\(name)")))
    }

    /// Returns a media playlist and its files: the map `NAME-init.mp4` and the segments `NAME-0.m4s`, ….
    package static func segments(_ name: String, count: Int, duration: Int) throws -> [String: [UInt8]] {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(duration)"]
        lines.append("#EXT-X-MAP:URI=\"\(name)-init.mp4\"")
        var files = ["\(name)-init.mp4": try file("\(name)-init.mp4")]
        for index in 0..<count {
            lines += ["#EXTINF:\(duration),", "\(name)-\(index).m4s"]
            files["\(name)-\(index).m4s"] = try file("\(name)-\(index).m4s")
        }
        lines.append("#EXT-X-ENDLIST")
        files["\(name).m3u8"] = Array((lines.joined(separator: "\n") + "\n").utf8)
        return files
    }

    /// Returns eight seconds of gray video with the captions that `scripts/make-caption-fixtures` adds.
    package static func frames(_ name: String = "pictures") throws -> [String: [UInt8]] {
        try segments(name, count: 4, duration: 2)
    }

    package static func transportStream(_ name: String = "pictures", duration: Int = 8) throws -> [String: [UInt8]] {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:8\n#EXTINF:\(duration),\n\(name).ts\n#EXT-X-ENDLIST\n"
        return ["\(name).m3u8": Array(playlist.utf8), "\(name).ts": try file("\(name).ts")]
    }

    package static func main(_ renditions: [String] = [], attributes: String = "", of name: String = "pictures")
        -> [UInt8]
    {
        let codec = name == "hevc" ? "hvc1.1.6.L30.90" : "avc1.f4000a"
        let lines =
            ["#EXTM3U"] + renditions.map { "#EXT-X-MEDIA:" + $0 } + [
                "#EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS=\"\(codec)\"\(attributes)", "\(name).m3u8",
            ]
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }
}
