import ArgumentParser
import HLSKitCore

/// What the command tells the shell.
enum ExitStatus: Sendable, Hashable {
    case done, internalError, notFound, network, badPlaylist, noVariant, contentKey, badMedia, output, incomplete
    case stale, refused, usage
    /// Ended by a signal after a clean finish.
    case interrupted(signal: Int32)

    var rawValue: Int32 {
        switch self {
        case .done: 0
        case .internalError: 1
        case .notFound: 3
        case .network: 4
        case .badPlaylist: 5
        case .noVariant: 6
        case .contentKey: 7
        case .badMedia: 8
        case .output: 9
        case .incomplete: 10
        case .stale: 11
        case .refused: 12
        case .usage: 64
        case .interrupted(let signal): 128 + signal
        }
    }

    /// For `throw` from a command's `run()`.
    var exitCode: ExitCode { ExitCode(rawValue) }

    init(_ error: any Error) {
        switch error {
        case let error as PlayerError: self.init(error.code)
        case let error as LoadingError: self.init(error)
        case let error as MediaError: self.init(error.code)
        case let error as AssetError: self.init(error.code)
        case is OutputError: self = .output
        case is ArgumentValueError: self = .usage
        default: self = .internalError
        }
    }

    init(_ code: PlayerError.Code) {
        switch code {
        case .notFound: self = .notFound
        case .network: self = .network
        case .badPlaylist: self = .badPlaylist
        case .noEligibleVariant: self = .noVariant
        case .contentKey: self = .contentKey
        case .badMedia: self = .badMedia
        case .notAvailable: self = .incomplete
        case .output: self = .output
        case .staleLive: self = .stale
        case .refused: self = .refused
        case .invalidArgument: self = .usage
        default: self = .internalError
        }
    }

    /// For a playlist that is loaded without a player.
    init(_ error: LoadingError) {
        switch error.code {
        case .httpStatus: self = (400..<500).contains(error.status ?? 0) ? .notFound : .network
        case .fileNotFound, .fileNotReadable: self = .notFound
        case .emptyBody, .badContentEncoding: self = .badPlaylist
        case .untrustedCertificate, .refused, .tooLarge: self = .refused
        case .badURL: self = .usage
        default: self = .network
        }
    }

    init(_ code: MediaError.Code) { self = code == .limitExceeded ? .refused : .badMedia }

    init(_ code: AssetError.Code) {
        switch code {
        case .notFound: self = .notFound
        case .network: self = .network
        case .badPlaylist: self = .badPlaylist
        case .badMedia: self = .badMedia
        case .refused: self = .refused
        case .contentKey: self = .contentKey
        case .noEligibleVariant: self = .noVariant
        case .notAvailable: self = .incomplete
        default: self = .internalError
        }
    }
}
