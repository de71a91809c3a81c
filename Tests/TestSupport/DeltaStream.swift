package import HLSKitSimulation
import HLSKitTime
import Synchronization

/// A live stream of 14 segments of four seconds that offers delta updates. Its first playlist lists ten segments.
package final class DeltaStream: Sendable {
    package enum Server: Sendable, CaseIterable {
        case skips, ignores, refuses, confuses, fails
    }

    package static let url = "https://host/live.m3u8?a=1"
    package static let count = 14
    private static let media: [UInt8] = (0..<3 * 188).map { $0 % 188 == 0 ? 0x47 : 0 }

    private final class Asked: Sendable {
        let requests = Mutex<[(url: String, time: Duration)]>([])
    }

    package let clock = VirtualClock()
    package let transport: SimulatedTransport
    private let asked = Asked()

    package init(_ server: Server) {
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(20)))
        transport = SimulatedTransport(over: link, clock: clock) { [clock, asked] request in
            asked.requests.withLock { $0.append((request.urlString, clock.now.offset)) }
            guard request.urlString.contains("live.m3u8") else { return SimulatedResponse(body: Self.media) }
            let skips = request.urlString.hasSuffix("_HLS_skip=YES")
            switch server {
            case .refuses where skips: return SimulatedResponse(status: 400)
            case .fails where skips: return SimulatedResponse(status: 503)
            default:
                let text = Self.list(at: clock.now.offset, skipping: skips, by: server)
                return SimulatedResponse(body: Array(text.utf8))
            }
        }
    }

    private static func list(at time: Duration, skipping: Bool, by server: Server) -> String {
        let listed = min(count, 10 + Int(time / .seconds(4)))
        var text = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:0\n"
        text += "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24\n"
        var first = 0
        if skipping, server == .skips || server == .confuses {
            first = listed - 6
            text += "#EXT-X-SKIP:SKIPPED-SEGMENTS=\(server == .confuses ? 1000 : first)\n"
        }
        for number in first..<listed { text += "#EXTINF:4,\n\(number).ts\n" }
        return text + (listed == count ? "#EXT-X-ENDLIST\n" : "")
    }

    package var lists: [(url: String, time: Duration)] {
        asked.requests.withLock { $0.filter { $0.url.contains("live.m3u8") } }
    }

    package var skipping: [(url: String, time: Duration)] { lists.filter { $0.url == Self.url + "&_HLS_skip=YES" } }

    package var segments: [String] {
        asked.requests.withLock { $0.map(\.url) }.filter { $0.hasSuffix(".ts") }
            .map { String($0.dropFirst("https://host/".count)) }
    }

    package static let segmentNames = (0..<count).map { "\($0).ts" }
}
