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

    mutating func pass(with wanted: [MediaSample]) -> [MediaSample] {
        defer { samples = [] }
        isPassed = true
        return wanted.first?.isSync == true ? wanted : samples + wanted
    }
}

/// The audio samples before the first wanted sample, at most some 80 s of them.
struct AudioLeadIn {
    private static let maximumCount = 2000

    private var samples: [MediaSample] = []
    private var isPassed = false

    mutating func begin() { samples = [] }

    mutating func hold(_ sample: MediaSample) {
        guard !isPassed else { return }
        samples.append(sample)
        if samples.count >= 2 * Self.maximumCount { samples.removeFirst(Self.maximumCount) }
    }

    mutating func take() -> [MediaSample] {
        defer { (samples, isPassed) = ([], true) }
        return samples
    }
}
