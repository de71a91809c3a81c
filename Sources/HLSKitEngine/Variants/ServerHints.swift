import HLSKitLoading

/// The last server hints about the link and the server, as far as variant selection uses them.
///
/// Source: CTA-5006, keys `etp` and `mb`.
struct ServerHints: Sendable {
    private(set) var latest: ServerDataNote?
    private let isMinded: Bool

    init(isMinded: Bool) { self.isMinded = isMinded }

    /// Called when a response arrives. Cached responses are ignored because their hints are old.
    mutating func note(_ response: TransportResponse, to resourceClass: ResourceClass) {
        guard isMinded, !response.wasReadFromCache else { return }
        let data = ServerDataNote(response.fields)
        // New hints replace the old ones. A media response without hints removes them, because the media's server
        // decides which hints apply.
        guard data != nil || resourceClass == .segment && latest != nil else { return }
        latest = data
    }

    /// The maximum bit rate of the variant, in bits per second.
    var maximumBitRate: Double? { latest?.data.maximumBitRate.flatMap { $0 > 0 ? $0 : nil } }

    /// The expected throughput in bits per second, used until there is a measurement.
    var throughput: Double? { latest?.data.estimatedThroughput.flatMap { $0 > 0 ? $0 : nil } }
}
