import HLSKitEngine
import HLSKitPlaylist
import TestSupport

@testable import HLSKitLoading

/// A test server that scripts its responses by path and time. It is a value, and the caller provides the time.
struct ScriptedOrigin {
    struct Visit {
        var path: String
        /// The time of the request, and the number of earlier requests for the path.
        var time: Duration
        var earlierCount: Int
        var byteRange: Range<UInt64>?
    }

    struct Reply {
        enum Body {
            case playlist(String)
            /// A valid segment, map or key.
            case media(byteCount: Int)
            case spoiled(SegmentFailure)
            case failure(LoadingError.Code, status: Int?, retryAfter: Duration?)
        }

        var body: Body
        /// The time from the request to the first byte or the failure.
        var delay: Duration?
        /// The time from the first byte to the last, or `nil` for the speed of the link.
        var transfer: Duration?
        var keyTerms: KeyTerms?
        /// The path after a redirect, or `nil` for the requested path.
        var path: String?

        static func text(_ text: PlaylistText) -> Self { Self(body: .playlist(text.text)) }
        static func text(_ text: String) -> Self { Self(body: .playlist(text)) }
        static func status(_ status: Int, retryAfter: Duration? = nil) -> Self {
            Self(body: .failure(.httpStatus, status: status, retryAfter: retryAfter))
        }
        static func failure(_ code: LoadingError.Code) -> Self {
            Self(body: .failure(code, status: nil, retryAfter: nil))
        }
        static func media(_ byteCount: Int) -> Self { Self(body: .media(byteCount: byteCount)) }
        static func spoiled(_ failure: SegmentFailure) -> Self { Self(body: .spoiled(failure)) }
        static func key(_ terms: KeyTerms = KeyTerms()) -> Self {
            var reply = media(16)
            reply.keyTerms = terms
            return reply
        }
        static let html = Self.text("<!DOCTYPE html><html></html>")

        func from(_ path: String) -> Self {
            var reply = self
            reply.path = path
            return reply
        }

        func after(_ delay: Duration) -> Self {
            var reply = self
            reply.delay = delay
            return reply
        }

        func lasting(_ transfer: Duration) -> Self {
            var reply = self
            reply.transfer = transfer
            return reply
        }
    }

    static let root = "https://host/"

    /// Responses by path. Playlists without a route are missing. All other paths are media.
    var routes: [String: (Visit) -> Reply] = [:]
    var media: (Visit) -> Reply = { _ in .media(100_000) }
    var delay = Duration.milliseconds(20)
    /// The bandwidth of the link, separately for each request.
    var bytesPerSecond: (Duration) -> Double = { _ in 1_000_000 }
    var protocolName = "http/1.1"
    private var visitCounts: [String: Int] = [:]

    /// Answers a path with one reply after another, then repeats the last one.
    mutating func answer(_ path: String, _ replies: Reply...) {
        routes[path] = { visit in replies[min(visit.earlierCount, replies.count - 1)] }
    }

    /// Serves a live playlist. Its segments have the target duration and are named by their sequence numbers.
    mutating func broadcast(_ path: String, _ broadcast: Broadcast) {
        routes[path] = { visit in .text(broadcast.text(at: visit.time)) }
    }

    mutating func reply(to url: String, byteRange: Range<UInt64>?, at time: Duration) -> Reply {
        let path = Self.path(of: url)
        let visit = Visit(path: path, time: time, earlierCount: visitCounts[path, default: 0], byteRange: byteRange)
        visitCounts[path, default: 0] += 1
        var reply =
            if let route = routes[path] { route(visit) } else if path.hasSuffix(".m3u8") {
                Reply.status(404)
            } else {
                media(visit)
            }
        if reply.delay == nil { reply.delay = delay }
        if reply.transfer == nil {
            reply.transfer = .zero
            if case .media(let byteCount) = reply.body {
                reply.transfer = .milliseconds(Int64(Double(byteCount) / bytesPerSecond(time) * 1000))
            }
        }
        return reply
    }

    static func path(of url: String) -> String {
        url.hasPrefix(root) ? String(url.dropFirst(root.count)) : url
    }
}

/// A live stream whose playlist is a window of numbered segments.
struct Broadcast {
    var targetDuration = 4
    /// The sequence number of the first segment in the window at time zero.
    var firstSequence = 100
    var windowCount = 6
    /// The number of segments after the first window, or `nil` for an endless stream.
    var laterCount: Int?
    var prefix = "s"
    /// The times without new segments. Numbering continues after them.
    var freezes: [Range<Duration>] = []
    var endsWithTag = true
    var tags: @Sendable (Int) -> [String] = { _ in [] }

    func text(at time: Duration) -> PlaylistText {
        var time = time
        for freeze in freezes where time >= freeze.lowerBound {
            time -= min(time, freeze.upperBound) - freeze.lowerBound
        }
        var count = Int(time / .seconds(targetDuration))
        if let laterCount { count = min(count, laterCount) }
        let first = firstSequence + count
        var text = PlaylistText.numbered(
            first, count: windowCount, targetDuration: targetDuration, prefix: prefix,
            isEnded: endsWithTag && count == laterCount)
        for index in text.segments.indices { text.segments[index].tags = tags(first + index) }
        return text
    }
}
