import HLSKitCore
import HLSKitSimulation
import Synchronization

final class Visits: Sendable {
    private let state = Mutex<[SimulatedRequest]>([])
    func append(_ request: SimulatedRequest) { state.withLock { $0.append(request) } }
    var all: [SimulatedRequest] { state.withLock { $0 } }
    /// Media playlists of a ``LowLatencyOrigin``.
    var lists: [SimulatedRequest] { all.filter { $0.urlString.contains("/live.m3u8") } }
    var held: [SimulatedRequest] { all.filter { $0.urlString.contains("_HLS_msn=") } }
    var media: [SimulatedRequest] { all.filter { $0.resourceClass == .segment } }
    func media(since time: Duration) -> [SimulatedRequest] { media.filter { $0.time >= time } }
    /// Variant and name of parts and segments, in the order in which they were asked for: `1/7.0`, `1/7`.
    var names: [String] { media.map(\.name) }
    var segmentNumbers: [Int] { names.compactMap { Int($0.split(separator: "/").last ?? "") } }
}

extension SimulatedRequest {
    /// `1/7.0` of `https://low-latency.invalid/1/7.0.m4s`, and where a range begins.
    var name: String {
        let path = urlString.prefix { $0 != "?" }.split(separator: "/").suffix(2).joined(separator: "/")
        let name = path.lastIndex(of: ".").map { String(path[..<$0]) } ?? path
        return byteRange.map { "\(name)@\($0.lowerBound)" } ?? name
    }
}
