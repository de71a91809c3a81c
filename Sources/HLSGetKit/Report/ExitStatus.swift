package import ArgumentParser
package import HLSKitCore
import HLSKitMedia

package enum ExitStatus: Sendable, Hashable {
    case done, internalError, notFound, network, badPlaylist, noVariant, contentKey, badMedia, output, incomplete
    case stale, refused, usage
    /// Ended by a signal after a clean finish; SIGPIPE if standard output has no reader.
    case interrupted(signal: Int32)

    package var rawValue: Int32 {
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

    /// For `throw` in a command's `run()`.
    package var exitCode: ExitCode { ExitCode(rawValue) }

    package init(_ error: any Error) {
        switch error {
        case let error as HLSError where error.domain == .output: self = .output
        case let error as HLSError: self.init(error.code)
        case let error as LoadingError: self.init(error)
        case let error as MediaError: self.init(error.code)
        case is ArgumentValueError: self = .usage
        default: self = .internalError
        }
    }

    package init(_ code: HLSError.Code) {
        switch code {
        case .notFound: self = .notFound
        case .network: self = .network
        case .badPlaylist: self = .badPlaylist
        case .noEligibleVariant: self = .noVariant
        case .contentKey: self = .contentKey
        case .badMedia: self = .badMedia
        case .notAvailable: self = .incomplete
        case .output, .fileExists, .notWritable, .diskFull, .brokenPipe, .writeFailed, .unsupported,
            .conversionFailed:
            self = .output
        case .staleLive: self = .stale
        case .incomplete: self = .incomplete
        case .refused: self = .refused
        case .invalidArgument: self = .usage
        default: self = .internalError
        }
    }

    /// For user input that is loaded without a player. A loading error has the same status as with a player: the one
    /// for the library's code.
    package init(_ error: LoadingError) {
        self.init(HLSError.Code(rawValue: LoadingFailure(error, as: .named).kind.rawValue))
    }

    init(_ code: MediaError.Code) { self = code == .limitExceeded ? .refused : .badMedia }
}
