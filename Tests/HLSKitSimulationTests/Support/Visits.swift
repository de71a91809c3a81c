import HLSKitCore
import HLSKitSimulation
import Synchronization

final class Visits: Sendable {
    private let state = Mutex<[SimulatedRequest]>([])
    func append(_ request: SimulatedRequest) { state.withLock { $0.append(request) } }
    var all: [SimulatedRequest] { state.withLock { $0 } }
    /// The requests for media playlists of a ``LowLatencyOrigin``.
    var lists: [SimulatedRequest] { all.filter { $0.urlString.contains("/live.m3u8") } }
    var held: [SimulatedRequest] { all.filter { $0.urlString.contains("_HLS_msn=") } }
    var media: [SimulatedRequest] { all.filter { $0.resourceClass == .segment } }
    func media(since time: Duration) -> [SimulatedRequest] { media.filter { $0.time >= time } }
    /// The variants and names of requested parts and segments in order: `1/7.0`, `1/7`.
    var names: [String] { media.map(\.name) }
    var segmentNumbers: [Int] { names.compactMap { Int($0.split(separator: "/").last ?? "") } }
}

extension SimulatedRequest {
    /// `1/7.0` for `https://low-latency.invalid/1/7.0.m4s`, followed by the start of a byte range.
    var name: String {
        let path = urlString.prefix { $0 != "?" }.split(separator: "/").suffix(2).joined(separator: "/")
        let name = path.lastIndex(of: ".").map { String(path[..<$0]) } ?? path
        return byteRange.map { "\(name)@\($0.lowerBound)" } ?? name
    }
}
