import HLSKitLoading
package import HLSKitPlaylist

/// Which lists of assets are asked for, when, and what they say.
///
/// A list is asked for once for each time that its event comes: servers choose what is played as late as they can.
///
/// Source: rfc8216bis, appendix D.
package struct AssetLists: Sendable {
    /// What is known of a list.
    package enum State: Sendable, Hashable {
        case unknown, asked, failed
        /// `base` is the URL that answered.
        case known(InterstitialAssetList, base: String)
    }

    /// A list, and the URL that answered.
    package struct Answer: Sendable, Hashable {
        package var list: InterstitialAssetList
        package var base: String

        package init(list: InterstitialAssetList, base: String) {
            self.list = list
            self.base = base
        }
    }

    /// A list that is to be asked for.
    package struct Request: Sendable, Hashable {
        /// The event's.
        package var id: String
        package var url: String
    }

    /// What has become of the list of the event with this ID.
    package struct Change: Sendable, Hashable {
        package var id: String
        package var status: InterstitialEvent.AssetListStatus
    }

    /// A list that is older is asked for again, unless its event is there: what it names may have run out.
    static let maximumAge = Duration.seconds(300)
    /// So long before an event its list is asked for at least.
    static let shortestLead = Duration.seconds(10)

    private struct Entry: Sendable {
        var state: State
        /// Host time: when it was asked for.
        var time: Duration
    }

    /// Tells servers which lists belong to one presentation.
    private let primaryID: String
    private var entries: [String: Entry] = [:]
    /// What has become of lists, in order, since it was last told.
    private var changes: [Change] = []

    /// - Parameter primaryID: the session of the item, `_HLS_primary_id`.
    package init(primaryID: String) { self.primaryID = primaryID }

    package subscript(id: String) -> State { entries[id]?.state ?? .unknown }

    /// How long before an event its list is asked for, in seconds of the host's clock.
    package static func lead(targetDuration: Duration) -> Duration { max(shortestLead, targetDuration * 3) }

    /// The lists of a break that are to be asked for now.
    ///
    /// - Parameters:
    ///   - time: until the break begins, in seconds of the host's clock; 0 where it has begun.
    ///   - now: host time.
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

    /// The answer to a request: the list with the URL that answered, or nil where there is none. One that nobody waits for any
    /// longer is not taken.
    package mutating func take(_ list: (InterstitialAssetList, base: String)?, of id: String) {
        guard let entry = entries[id], entry.state == .asked else { return }
        entries[id]?.state = list.map { .known($0.0, base: $0.base) } ?? .failed
        changes.append(Change(id: id, status: list == nil ? .unavailable : .available))
    }

    /// The break is over, or was left: when one of its events comes again, its list is asked for again.
    package mutating func forget(_ over: InterstitialBreak) {
        for event in over.events {
            guard let entry = entries.removeValue(forKey: event.id), case .known = entry.state else { continue }
            changes.append(Change(id: event.id, status: .cleared))
        }
    }

    /// What has become of lists since this was last called.
    package mutating func takeChanges() -> [Change] {
        defer { changes = [] }
        return changes
    }

    /// The URL of a list with what the server is told. A `data:` URL stays what it is.
    static func url(_ url: String, primaryID: String, startOffset: Duration) -> String {
        if URIReference(url)?.scheme?.lowercased() == "data" { return url }
        var parameters = ["_HLS_primary_id=" + PercentCoding.encodedQueryValue(primaryID)]
        if startOffset > .zero { parameters.append("_HLS_start_offset=" + startOffset.millisecondText) }
        let plain = url.prefix { $0 != "#" }
        let mark = !plain.contains("?") ? "?" : plain.hasSuffix("?") || plain.hasSuffix("&") ? "" : "&"
        return plain + mark + parameters.joined(separator: "&") + url.dropFirst(plain.count)
    }
}

extension Duration {
    /// Seconds with at most three decimals, rounded down, of a time that is not negative.
    fileprivate var millisecondText: String {
        let (seconds, attoseconds) = components
        var decimals = String(attoseconds / 1_000_000_000_000_000 + 1000).dropFirst()
        while decimals.last == "0" { decimals.removeLast() }
        return decimals.isEmpty ? "\(seconds)" : "\(seconds).\(decimals)"
    }
}
