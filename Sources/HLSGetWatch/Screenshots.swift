import HLSGetKit
import HLSKitCore

struct Screenshots: Sendable {
    /// `nil` for the current folder.
    var folder: String?
    var name: String

    func save(_ image: StillImage, at time: MediaTime) throws(HLSError) -> String {
        let bytes = try image.encoded(as: .jpeg(quality: 95))
        var number = 1
        while true {
            let path = path(at: time, number: number)
            try NameTemplate.makeFolders(of: path)
            do throws(HLSError) {
                let file = try OutputFile(path: path, keepsLeftover: false)
                try file.write(bytes)
                try file.commit()
                return path
            } catch {
                guard error.code == .fileExists, number < 1000 else { throw error }
                number += 1
            }
        }
    }

    /// `film-1.02.03.500.jpg` for 1:02:03.5.
    func path(at time: MediaTime, number: Int) -> String {
        let milliseconds = (max(0, time.finiteSeconds ?? 0) * 1000).rounded()
        let clock = Decimals.clock((milliseconds / 1000).rounded(.down)).replacing(":", with: ".")
        let rest = Decimals.text(milliseconds.truncatingRemainder(dividingBy: 1000), places: 0)
        let zeros = String(repeating: "0", count: max(0, 3 - rest.count))
        let copy = number > 1 ? "-\(number)" : ""
        return (folder.map { $0 + "/" } ?? "") + "\(name)-\(clock).\(zeros)\(rest)\(copy).jpg"
    }
}
