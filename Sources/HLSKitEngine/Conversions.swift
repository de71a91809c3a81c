package import HLSKitLoading
import HLSKitMedia
package import HLSKitPlaylist
package import HLSKitTime

extension MediaTimeRange {
    package init(_ range: Range<Duration>) {
        self.init(start: MediaTime(range.lowerBound), duration: MediaTime(range.upperBound - range.lowerBound))
    }
}

extension HLSError {
    init(_ failure: PlaylistFailure) {
        self.init(
            code: failure.kind == .limitExceeded ? .refused : .badPlaylist, urlString: failure.url, cause: failure.text,
            detail: failure.detail)
        domain = .playlist
    }

    package init(_ error: SegmentFailure, url: String) {
        switch error {
        case .media(let error):
            self.init(
                code: .badMedia, urlString: url, cause: "the segment cannot be read", detail: error.description,
                underlyingError: error)
        case .truncatedCiphertext:
            self.init(code: .network, urlString: url, cause: "the encrypted segment was cut short", detail: nil)
        case .wrongKey:
            self.init(
                code: .contentKey, urlString: url, cause: "the key does not decrypt the segment", detail: "padding")
        case .noKey:
            self.init(
                code: .contentKey, urlString: url, cause: "the media is encrypted, and there is no key for it",
                detail: nil)
        case .badKey(let byteCount):
            self.init(
                code: .contentKey, urlString: url, cause: "the key is not 16 bytes long", detail: "\(byteCount) bytes")
        case .badInitializationSection(let error):
            self.init(
                code: .badMedia, urlString: url, cause: "the initialization section cannot be read",
                detail: error.description, underlyingError: error)
        }
    }
}

extension PlaylistFailure {
    package init(_ error: PlaylistError, url: String) {
        let kind: Kind =
            switch error.code {
            case .limitExceeded: .limitExceeded
            case .notAPlaylist: .notAPlaylist
            case .cannotMerge: .misfit
            default: .malformed
            }
        let words = error.words
        self.init(kind: kind, url: url, text: words.cause, detail: words.detail)
    }
}
