import Foundation
import HLSKitCore

struct ProbeReport: Sendable, Codable, Equatable {
    struct Variant: Sendable, Codable, Equatable {
        var peakBitRate: Double?
        var averageBitRate: Double?
        var width: Int?
        var height: Int?
        var frameRate: Double?
        var codecs: [String]
        var ineligible: [String]
    }

    struct Track: Sendable, Codable, Equatable {
        var type: String
        var codec: String
        var language: String?
        var name: String?
    }

    /// A failure that a retry fixed, or the failure that ended the probe.
    struct Failure: Sendable, Codable, Equatable {
        var code: String
        var message: String
        /// The HTTP status of the response, or `nil` if there was no response.
        var status: Int?

        init(_ error: HLSError) {
            code = error.code.rawValue
            // A description does not contain the secret parts of URLs.
            message = error.description
            status = error.statusCode ?? (error.underlyingError as? HLSError)?.statusCode
        }

        init(code: String, message: String) { (self.code, self.message) = (code, message) }
    }

    /// The URL without user information and query, which may contain secrets.
    var url: String
    var live: Bool
    /// The duration in seconds, or `nil` for a live stream.
    var duration: Double?
    var variants: [Variant]
    var tracks: [Track]
    /// The time from the first request to the first frame in seconds, or `nil` without video.
    var firstPicture: Double?
    /// The time from the first request until playback advances in seconds, or `nil` if the first frame arrived earlier.
    var startup: Double?
    var requests: Int
    var bytes: Int
    /// The failures that retries fixed.
    var errors: [Failure]
}

extension ProbeReport {
    /// Returns a URL that may be shown to others, without user information, query and fragment.
    static func shown(_ url: String) -> String {
        guard var parts = URLComponents(string: url) else { return "" }
        (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
        return parts.string ?? ""
    }
}

struct ProbeProblem: Sendable, Codable, Equatable {
    var error: ProbeReport.Failure
}
