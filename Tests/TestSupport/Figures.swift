import Foundation

/// Measurements that tests write to the file in `HLSKIT_FIGURES`, for `scripts/measure-house --run`.
package enum Figures {
    package static func note(_ name: String, _ value: @autoclosure () -> Double) {
        guard let path = ProcessInfo.processInfo.environment["HLSKIT_FIGURES"] else { return }
        let line = "\(name)\t\((value() * 100).rounded() / 100)\n"
        let old = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        try? (old + line).write(toFile: path, atomically: true, encoding: .utf8)
    }
}
