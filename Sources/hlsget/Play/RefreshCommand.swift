import Glibc
import HLSGetKit
import HLSKitCore

/// `--refresh-cmd`: a command that prints a fresh URL when the current one expires.
struct RefreshCommand: URLRefresher {
    let command: String
    var deadline: Duration { .seconds(30) }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The maximum length of the URL, which must be one line.
    private static let maximumByteCount = 64 << 10

    func freshURL(insteadOf expired: ExpiredURL) async throws -> String {
        let process: ShellProcess
        do {
            process = try ShellProcess(
                command,
                variables: [
                    "HLSGET_URL": expired.itemURLString, "HLSGET_FAILED_URL": expired.urlString,
                    "HLSGET_STATUS": "\(expired.status)",
                ])
        } catch {
            throw Failure(description: "cannot run /bin/sh: \(String(cString: strerror(error.code)))")
        }
        let (bytes, status) = await withTaskCancellationHandler {
            await process.output(atMost: Self.maximumByteCount)
        } onCancel: {
            process.terminate()
        }
        guard status == 0 else { throw Failure(description: "\"\(command)\" exited with \(status)") }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard lines.count == 1, let url = lines.first else {
            throw Failure(description: "\"\(command)\" printed \(lines.count) lines instead of a URL")
        }
        return url.trimmed()
    }
}
