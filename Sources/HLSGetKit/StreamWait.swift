import HLSKitCore

/// Waits for a stream that has not begun: asks for its first playlist until there is one that lists something.
struct StreamWait: Sendable {
    /// Between two tries.
    static let interval = Duration.seconds(5)

    /// What a try has found.
    enum Finding: Sendable, Equatable {
        case isThere
        /// It may come.
        case isMissing
        /// Waiting does not help; whoever plays it says why.
        case isHopeless
    }

    let wait: WaitArgument
    let clock: SourceClock
    /// Looks once.
    let look: @Sendable () async throws -> Finding

    /// Returns when the stream is there, when waiting is of no use, or when it has been waited for long enough.
    ///
    /// - Parameter waits: called once where there is something to wait for.
    /// - Throws: `CancellationError`.
    func run(_ waits: @Sendable () -> Void) async throws {
        guard try await look() == .isMissing else { return }
        // From here on looking counts as well: a server may not answer.
        let end = wait.limit.map { clock.now + $0 }
        var isTold = false
        repeat {
            let rest = end.map { $0 - clock.now } ?? Self.interval
            guard rest > .zero else { return }
            if !isTold { waits() }
            isTold = true
            try await clock.sleep(for: min(rest, Self.interval))
        } while try await look() == .isMissing
    }

    /// The finding of a loader, which tries once.
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
            // A file of media, or a page that will give way to a playlist: the player knows.
            guard let reason = error.loadingError else { return .isHopeless }
            return finding(reason)
        }
    }

    static func finding(_ error: LoadingError) -> Finding {
        switch error.code {
        // Without credentials it is never there.
        case .httpStatus: return [401, 403, 407].contains(error.status ?? 0) ? .isHopeless : .isMissing
        case .nameNotFound, .cannotConnect, .timedOut, .connectionLost, .emptyBody, .fileNotFound, .transport:
            return .isMissing
        default: return .isHopeless
        }
    }
}
