import HLSKitLoading

/// What servers told last of the link and of themselves, as far as choosing variants minds it.
///
/// Source: CTA-5006, keys `etp` and `mb`.
struct ServerHints: Sendable {
    private(set) var latest: ServerDataNote?
    private let isMinded: Bool

    init(isMinded: Bool) { self.isMinded = isMinded }

    /// A response has come. What a cache kept says nothing of now.
    mutating func note(_ response: TransportResponse, to resourceClass: ResourceClass) {
        guard isMinded, !response.wasReadFromCache else { return }
        let data = ServerDataNote(response.fields)
        // Who serves the media says what holds for it: nothing, where it says nothing.
        guard data != nil || resourceClass == .segment && latest != nil else { return }
        latest = data
    }

    /// Bits per second that the variant is not to have more of.
    var maximumBitRate: Double? { latest?.data.maximumBitRate.flatMap { $0 > 0 ? $0 : nil } }

    /// Bits per second to expect where nothing was measured.
    var throughput: Double? { latest?.data.estimatedThroughput.flatMap { $0 > 0 ? $0 : nil } }
}
