import HLSKitLoading
package import HLSKitPlaylist
import HLSKitTime

/// Decides when to request the asset lists of events, and keeps the responses.
///
/// A list is requested once each time that its event comes up, because servers choose the assets as late as possible.
///
/// Source: rfc8216bis, appendix D.
package struct AssetLists: Sendable {
    package enum State: Sendable, Hashable {
        case unknown, asked, failed
        /// `base` is the URL that returned the list.
        case known(InterstitialAssetList, base: String)
    }

    package struct Answer: Sendable, Hashable {
        package var list: InterstitialAssetList
        package var base: String

        package init(list: InterstitialAssetList, base: String) {
            self.list = list
            self.base = base
        }
    }

    package struct Request: Sendable, Hashable {
        package var id: String
        package var url: String
    }

    package struct Change: Sendable, Hashable {
        package var id: String
        package var status: InterstitialEvent.AssetListStatus
    }

    /// The age after which a list is requested again before its event begins, because its URLs may have expired.
    static let maximumAge = Duration.seconds(300)
    /// The shortest time before an event at which its list is requested.
    static let shortestLead = Duration.seconds(10)

    private struct Entry: Sendable {
        var state: State
        /// The host time of the request.
        var time: Duration
    }

    private let primaryID: String
    private var entries: [String: Entry] = [:]
    private var changes: [Change] = []

    /// - Parameter primaryID: The session ID of the item, `_HLS_primary_id`.
    package init(primaryID: String) { self.primaryID = primaryID }

    package subscript(id: String) -> State { entries[id]?.state ?? .unknown }

    /// Returns the time before an event at which its list is requested, on the host clock.
    package static func lead(targetDuration: Duration) -> Duration { max(shortestLead, targetDuration * 3) }

    /// Returns the requests for lists of a break that are due.
    ///
    /// - Parameters:
    ///   - time: The time until the break begins, on the host clock, or 0 if it has begun.
    ///   - now: The host time.
    package mutating func due(
        _ upcoming: InterstitialBreak, in time: Duration, targetDuration: Duration, now: Duration
    ) -> [Request] {
        guard time <= Self.lead(targetDuration: targetDuration) else { return [] }
        var requests: [Request] = []
        for event in upcoming.remaining {
            guard case .assetList(let url) = event.content, isNeeded(event.id, time, now) else { continue }
            entries[event.id] = Entry(state: .asked, time: now)
            changes.append(Change(id: event.id, status: .requested))
            let offset = event.id == upcoming.current?.id ? upcoming.startOffset : .zero
            requests.append(Request(id: event.id, url: Self.url(url, primaryID: primaryID, startOffset: offset)))
        }
        return requests
    }

    private func isNeeded(_ id: String, _ time: Duration, _ now: Duration) -> Bool {
        guard let entry = entries[id] else { return true }
        switch entry.state {
        case .unknown: return true
        case .asked, .failed: return false
        case .known: return time > .zero && now - entry.time > Self.maximumAge
        }
    }

    /// Records the response to a request: the list and its URL, or nil if it failed. Ignores the response if it is no
    /// longer awaited.
    package mutating func take(_ list: (InterstitialAssetList, base: String)?, of id: String) {
        guard let entry = entries[id], entry.state == .asked else { return }
        entries[id]?.state = list.map { .known($0.0, base: $0.base) } ?? .failed
        changes.append(Change(id: id, status: list == nil ? .unavailable : .available))
    }

    /// Forgets the lists of a break that has ended. If one of its events comes up again, its list is requested again.
    package mutating func forget(_ over: InterstitialBreak) {
        for event in over.events {
            guard let entry = entries.removeValue(forKey: event.id), case .known = entry.state else { continue }
            changes.append(Change(id: event.id, status: .cleared))
        }
    }

    package mutating func takeChanges() -> [Change] {
        defer { changes = [] }
        return changes
    }

    /// Returns the URL of a list with the query parameters for its server. A `data:` URL does not change.
    static func url(_ url: String, primaryID: String, startOffset: Duration) -> String {
        if URIReference(url)?.scheme?.lowercased() == "data" { return url }
        var parameters = ["_HLS_primary_id=" + PercentCoding.encoded(primaryID)]
        if startOffset > .zero { parameters.append("_HLS_start_offset=" + startOffset.decimalText(3)) }
        let plain = url.prefix { $0 != "#" }
        let mark = !plain.contains("?") ? "?" : plain.hasSuffix("?") || plain.hasSuffix("&") ? "" : "&"
        return plain + mark + parameters.joined(separator: "&") + url.dropFirst(plain.count)
    }
}
