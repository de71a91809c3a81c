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

    /// A failure that was mended, or the one that ended the probe.
    struct Failure: Sendable, Codable, Equatable {
        var code: String
        var message: String
        /// Of the answer, where there was one.
        var status: Int?

        init(_ error: HLSError) {
            code = error.code.rawValue
            // A description has no secrets of URLs.
            message = error.description
            status = error.statusCode ?? (error.underlyingError as? HLSError)?.statusCode
        }

        init(code: String, message: String) { (self.code, self.message) = (code, message) }
    }

    /// Without user information and query, which may hold secrets.
    var url: String
    var live: Bool
    /// Seconds; nil of a live stream.
    var duration: Double?
    var variants: [Variant]
    var tracks: [Track]
    /// Seconds from the first request to the first frame; nil where there is no video.
    var firstPicture: Double?
    /// Seconds from the first request until time passed; nil where the first frame was there before.
    var startup: Double?
    var requests: Int
    var bytes: Int
    /// Those that were mended.
    var errors: [Failure]
}

extension ProbeReport {
    /// A URL as others may see it: without user information, query and fragment.
    static func shown(_ url: String) -> String {
        guard var parts = URLComponents(string: url) else { return "" }
        (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
        return parts.string ?? ""
    }
}

struct ProbeProblem: Sendable, Codable, Equatable {
    var error: ProbeReport.Failure
}
