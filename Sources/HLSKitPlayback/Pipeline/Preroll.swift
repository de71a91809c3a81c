import HLSKitMedia

/// The video samples before the start of wanted samples, from the last sync sample on.
///
/// The first wanted frame depends on them.
struct Preroll {
    private var samples: [MediaSample] = []
    /// Whether the first wanted sample has arrived. All later samples are needed.
    private(set) var isPassed = false

    mutating func hold(_ sample: MediaSample) {
        if sample.isSync { samples = [] } else if samples.isEmpty { return }
        samples.append(sample)
    }

    mutating func pass(with sample: MediaSample) -> [MediaSample] {
        defer { samples = [] }
        isPassed = true
        return sample.isSync ? [sample] : samples + [sample]
    }
}
