import HLSMedia
import HLSPlaylist
import HLSTime

extension MediaTime {
    /// An item time of the engine, to the nanosecond.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let nanoseconds = attoseconds / 1_000_000_000
        let (value, overflow2) = whole.addingReportingOverflow(nanoseconds)
        self =
            overflow || overflow2
            ? (seconds < 0 ? .negativeInfinity : .positiveInfinity)
            : MediaTime(value: value, timescale: 1_000_000_000)
    }
}

extension MediaTimeRange {
    init(_ range: Range<Duration>) {
        self.init(start: MediaTime(range.lowerBound), duration: MediaTime(range.upperBound - range.lowerBound))
    }
}

extension PlayerError {
    init(_ failure: PlaylistFailure) {
        self.init(
            code: failure.kind == .limitExceeded ? .refused : .badPlaylist, url: failure.url, cause: failure.text,
            detail: failure.detail)
    }

    init(_ error: OutputError) {
        self.init(code: .output, url: error.path, cause: "cannot write", detail: error.text)
    }

    init(_ error: SegmentFailure, url: String) {
        switch error {
        case .media(let error):
            self.init(code: .badMedia, url: url, cause: "the segment cannot be read", detail: error.description)
        case .truncatedCiphertext:
            self.init(code: .network, url: url, cause: "the encrypted segment was cut short", detail: nil)
        case .wrongKey:
            self.init(code: .contentKey, url: url, cause: "the key does not fit the segment", detail: "padding")
        case .noKey:
            self.init(
                code: .contentKey, url: url, cause: "the media is encrypted, and there is no key for it", detail: nil)
        case .badKey(let byteCount):
            self.init(code: .contentKey, url: url, cause: "the key is not 16 bytes long", detail: "\(byteCount) bytes")
        case .badInitializationSection(let error):
            self.init(
                code: .badMedia, url: url, cause: "the initialization section cannot be read",
                detail: error.description)
        }
    }

    /// A failure of loading, as ``LoadingFailure`` has it.
    init(_ error: LoadingError, as role: LoadingFailure.Role) {
        let failure = LoadingFailure(error, as: role)
        self.init(code: Code(failure.kind), url: error.url, cause: failure.cause, detail: failure.detail)
    }

    /// A failure of loading; `isFirst` where it is the first playlist, without which there is nothing.
    init(_ error: LoadingError, isFirst: Bool) { self.init(error, as: isFirst ? .named : .listed) }
}

extension PlayerError.Code {
    init(_ kind: LoadingFailure.Kind) { self.init(rawValue: kind.rawValue) }
}

extension PlaylistFailure {
    init(_ error: PlaylistError, url: String) {
        let kind: Kind =
            switch error.code {
            case .limitExceeded: .limitExceeded
            case .notAPlaylist: .notAPlaylist
            default: .malformed
            }
        let words = error.words
        self.init(kind: kind, url: url, text: words.cause, detail: words.detail)
    }
}
