import HLSKitEngine
import HLSKitPlaylist
import TestSupport

@testable import HLSKitLoading

/// A server of a test: what it answers to whom, and when. A value; time is what it is told.
struct ScriptedOrigin {
    struct Visit {
        var path: String
        /// When the request came, and how many came for this path before.
        var time: Duration
        var earlierCount: Int
        var byteRange: Range<UInt64>?
    }

    struct Reply {
        enum Body {
            case playlist(String)
            /// A segment, map or key that is what it should be.
            case media(byteCount: Int)
            /// A segment that arrives and is of no use.
            case spoiled(SegmentFailure)
            case failure(LoadingError.Code, status: Int?, retryAfter: Duration?)
        }

        var body: Body
        /// From the request to the first byte, or to the failure.
        var delay: Duration?
        /// From the first byte to the last; nil is what the link gives.
        var transfer: Duration?
        var keyTerms: KeyTerms?
        /// The path that answers after a redirect; nil for the one that was asked.
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

    /// Answers by path. Playlists without an answer are not there; everything else is media.
    var routes: [String: (Visit) -> Reply] = [:]
    var media: (Visit) -> Reply = { _ in .media(100_000) }
    var delay = Duration.milliseconds(20)
    /// Of the link, for each request by itself.
    var bytesPerSecond: (Duration) -> Double = { _ in 1_000_000 }
    var protocolName = "http/1.1"
    private var visitCounts: [String: Int] = [:]

    /// One answer after another; the last one stays.
    mutating func answer(_ path: String, _ replies: Reply...) {
        routes[path] = { visit in replies[min(visit.earlierCount, replies.count - 1)] }
    }

    /// A live playlist: segments of the target duration, named by their sequence numbers, one more each target duration.
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

/// A live stream whose playlist is a window over numbered segments.
struct Broadcast {
    var targetDuration = 4
    /// Segments listed at time zero, and the number of the first.
    var firstSequence = 100
    var windowCount = 6
    /// Segments that come after those of the first window; nil for ever.
    var laterCount: Int?
    var prefix = "s"
    /// Nothing new comes in these times; the number of segments continues from there.
    var freezes: [Range<Duration>] = []
    /// Whether the list says that it has ended, once the last segment is in it.
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
