import Foundation
import Synchronization

package final class OddOrigin: Sendable {
    package let server: ScriptedServer
    package var url: String { server.url }

    /// Serves `files` by path, then files of the sample. All other paths are 404.
    package init(_ files: [String: [UInt8]] = [:], cutting cut: String? = nil, forbidding forbidden: String? = nil)
        throws
    {
        server = try ScriptedServer(answering: { connection, request in
            let path = String(request.first?.split(separator: " ").dropFirst().first?.dropFirst() ?? "")
            if path == forbidden { return connection.respond([], status: "403 Forbidden") }
            let sample = "\(SampleMedia.folder)/\(path)"
            guard let bytes = files[path] ?? FileManager.default.contents(atPath: sample).map(Array.init) else {
                return connection.respond(Array("<html>no</html>".utf8), status: "404 Not Found")
            }
            guard path != cut else {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\nConnection: close\r\n\r\n")
                connection.send(bytes[..<(bytes.count / 2)])
                return connection.hangUp()
            }
            connection.respond(bytes)
        })
    }

    package func stop() { server.stop() }

    /// Returns the 180p variant with a file for each segment: `v.m3u8`, `init.mp4`, `0.m4s`….
    package static func cutSample(_ edit: (String) -> String = { $0 }) throws -> [String: [UInt8]] {
        let rendition = try SampleMedia.rendition("video-180p")
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"init.mp4\"\n"
        var files: [String: [UInt8]] = ["init.mp4": rendition.initializationSection]
        for (index, segment) in rendition.segments.enumerated() {
            files["\(index).m4s"] = segment
            text += "#EXTINF:4,\n\(index).m4s\n"
        }
        files["v.m3u8"] = Array(edit(text + "#EXT-X-ENDLIST\n").utf8)
        return files
    }
}
