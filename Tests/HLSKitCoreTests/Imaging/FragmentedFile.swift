import TestSupport

struct FragmentedFile {
    let bytes: [UInt8]
    let initialization: Range<Int>
    let fragments: [Range<Int>]

    init(_ bytes: [UInt8]) throws {
        var (start, fragments) = (0, [Range<Int>]())
        var initialization = 0..<bytes.count
        var opened: Int?
        while start + 8 <= bytes.count {
            let size = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            let end = start + size
            guard size >= 8, end <= bytes.count else { throw Tool.Failure(description: "a box of \(size) bytes") }
            switch String(decoding: bytes[start + 4..<start + 8], as: UTF8.self) {
            case "moof":
                if fragments.isEmpty, opened == nil { initialization = 0..<start }
                opened = start
            case "mdat":
                if let begin = opened { fragments.append(begin..<end) }
                opened = nil
            default: break
            }
            start = end
        }
        self.bytes = bytes
        self.initialization = initialization
        self.fragments = fragments
    }

    func iFramePlaylist(named name: String, seconds: Int) -> String {
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:\(seconds)\n#EXT-X-I-FRAMES-ONLY\n"
        text += "#EXT-X-MAP:URI=\"\(name)\",BYTERANGE=\"\(initialization.count)@0\"\n"
        for range in fragments {
            text += "#EXTINF:\(seconds),\n#EXT-X-BYTERANGE:\(range.count)@\(range.lowerBound)\n\(name)\n"
        }
        return text + "#EXT-X-ENDLIST\n"
    }
}

enum FFmpegFrames {
    static let isThere = Tool.exists("/usr/bin/ffmpeg")

    static func hashes(of path: String) throws -> [String] {
        let text = String(
            decoding: try Tool.run(["/usr/bin/ffmpeg", "-v", "error", "-i", path, "-f", "framemd5", "-"]), as: UTF8.self
        )
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
            line.split(separator: ",").last.map { $0.filter { $0 != " " } }
        }
    }

    /// Returns the RGBA pixels of a frame, or of several frames that `filters` combines.
    static func pixels(
        of path: String, where condition: String, width: Int, height: Int, then filters: String = ""
    ) throws -> [UInt8] {
        let scale = "scale=\(width):\(height):flags=bicubic+accurate_rnd+full_chroma_int"
        return try Tool.run([
            "/usr/bin/ffmpeg", "-v", "error", "-i", path, "-vf", "select=\(condition),\(scale),format=rgba\(filters)",
            "-frames:v", "1", "-f", "rawvideo", "-",
        ])
    }
}
