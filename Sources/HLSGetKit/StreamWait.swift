import HLSKitCore

/// Waits for a stream to start: requests its first playlist until it lists a segment.
struct StreamWait: Sendable {
    static let interval = Duration.seconds(5)

    enum Finding: Sendable, Equatable {
        case isThere
        /// The stream may still start.
        case isMissing
        /// Waiting does not help; playback will report the error.
        case isHopeless
    }

    let wait: WaitArgument
    let clock: SourceClock
    let look: @Sendable () async throws -> Finding

    /// Returns when the stream has started, when waiting is pointless, or at the limit.
    ///
    /// - Parameter waits: Called once if there is a wait.
    /// - Throws: `CancellationError`.
    func run(_ waits: @Sendable () -> Void) async throws {
        guard try await look() == .isMissing else { return }
        // Include the attempts in the limit, because a server may not respond.
        let end = wait.limit.map { clock.now + $0 }
        var isReported = false
        repeat {
            let rest = end.map { $0 - clock.now } ?? Self.interval
            guard rest > .zero else { return }
            if !isReported { waits() }
            isReported = true
            try await clock.sleep(for: min(rest, Self.interval))
        } while try await look() == .isMissing
    }

    static func look(with loader: PlaylistLoader) async throws -> Finding {
        do throws(HLSError) {
            switch try await loader.load() {
            case .media(let playlist): return playlist.segments.isEmpty && !playlist.isComplete ? .isMissing : .isThere
            case .multivariant(let playlist):
                guard let variant = playlist.variants.first, let url = playlist.resolve(variant.uri) else {
                    return .isThere
                }
                guard case .media(let media) = try await loader.load(url, namedBy: playlist.url) else {
                    return .isThere
                }
                return media.segments.isEmpty && !media.isComplete ? .isMissing : .isThere
            }
        } catch {
            if error.code == .cancelled { throw CancellationError() }
            // It may be a media file, or a page that a playlist will replace. The player can tell.
            guard let reason = error.loadingError else { return .isHopeless }
            return finding(reason)
        }
    }

    static func finding(_ error: LoadingError) -> Finding {
        switch error.code {
        // Retrying does not help without credentials.
        case .httpStatus: return [401, 403, 407].contains(error.status ?? 0) ? .isHopeless : .isMissing
        case .nameNotFound, .cannotConnect, .timedOut, .connectionLost, .emptyBody, .fileNotFound, .transport:
            return .isMissing
        default: return .isHopeless
        }
    }
}
