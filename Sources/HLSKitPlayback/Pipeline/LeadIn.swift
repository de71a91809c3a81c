import HLSKitMedia

/// Samples of pictures before a time from which on samples are wanted: who takes them needs those that lead up to it, from the
/// last sync sample on.
struct LeadIn {
    private var samples: [MediaSample] = []
    /// The first sample that was wanted has come: all that follow are needed.
    private(set) var isPassed = false

    /// Takes note of a sample that comes before.
    mutating func hold(_ sample: MediaSample) {
        if sample.isSync { samples = [] } else if samples.isEmpty { return }
        samples.append(sample)
    }

    /// What to pass on where this sample is wanted.
    mutating func pass(with sample: MediaSample) -> [MediaSample] {
        defer { samples = [] }
        isPassed = true
        return sample.isSync ? [sample] : samples + [sample]
    }
}
