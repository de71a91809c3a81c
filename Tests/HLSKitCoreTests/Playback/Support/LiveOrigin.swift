import Foundation
import Synchronization
import TestSupport

/// A server of the sample as a live stream that grows by one segment per target duration of its clock.
final class LiveOrigin: Sendable {
    enum Kind: Sendable { case sliding, event }

    static let targetDuration = Duration.seconds(4)
    private static let window = 5

    private let server: ScriptedServer
    private let log: RequestLog

    var url: String { server.url + "/master.m3u8" }
    var playlistRequests: [String: [Duration]] { log.times.withLock { $0 } }

    private final class RequestLog: Sendable {
        let began = Mutex<Duration?>(nil)
        let times = Mutex<[String: [Duration]]>([:])

        func age(at now: Duration) -> Duration {
            began.withLock { began in
                if let began { return now - began }
                began = now
                return .zero
            }
        }
    }

    /// - Parameter listed: The number of segments at the first request.
    init(_ kind: Kind, clock: FastClock, listed: Int) throws {
        let log = RequestLog()
        let renditions = [
            "video": try SampleMedia.rendition("video-180p"), "audio": try SampleMedia.rendition("audio-en"),
        ]
        self.log = log
        server = try ScriptedServer(answering: { connection, request in
            let age = log.age(at: clock.now.offset)
            let words = (request.first ?? "").split(whereSeparator: { " /-.".contains($0) }).map(String.init)
            // The words of a request line such as `GET /video.m3u8` or `GET /video-3.m4s`.
            guard words.count > 2, let rendition = renditions[words[1]] else {
                return connection.respond(Array(Self.master.utf8))
            }
            let steps = Int(age / Self.targetDuration)
            if words[2] == "m3u8" {
                log.times.withLock { $0[words[1], default: []].append(age) }
                let text = Self.playlist(words[1], rendition, kind, count: listed + steps)
                connection.respond(Array(text.utf8))
            } else if let index = Int(words[2]), rendition.segments.indices.contains(index), index < listed + steps {
                connection.respond(rendition.segments[index])
            } else if words[2] == "init" {
                connection.respond(rendition.initializationSection)
            } else {
                connection.respond([], status: "404 Not Found")
            }
        })
    }

    func stop() { server.stop() }

    private static func playlist(
        _ name: String, _ rendition: SampleMedia.Rendition, _ kind: Kind, count: Int
    ) -> String {
        let end = min(count, rendition.segments.count)
        let first = kind == .event ? 0 : max(0, end - window)
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
        if kind == .event { text += "#EXT-X-PLAYLIST-TYPE:EVENT\n" }
        text += "#EXT-X-MAP:URI=\"\(name)-init.mp4\"\n"
        for index in first..<end { text += "#EXTINF:\(rendition.durations[index]),\n\(name)-\(index).m4s\n" }
        return count >= rendition.segments.count ? text + "#EXT-X-ENDLIST\n" : text
    }

    private static let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",DEFAULT=YES,URI="audio.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=127446,CODECS="avc1.4d400d,mp4a.40.2",RESOLUTION=320x180,AUDIO="a"
        video.m3u8

        """
}
