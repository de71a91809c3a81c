import HLSKitTime

/// Writes `.scc` with captions of CC1, which are loaded before they are shown.
///
/// Source: the format of Scenarist, version 1.0: a time code, then the words of the following frames.
enum ScenaristWriter {
    static func write(
        _ captions: [Caption], rate: TimeCodeRate
    ) throws(CaptionError) -> (bytes: [UInt8], notes: [CaptionFileNote]) {
        var notes = NoteList()
        var schedule = CEA608Schedule(firstFrame: 0)
        for (scene, beginning) in try CEA608Schedule.Scene.scenes(of: captions, rate: rate) {
            let placement = schedule.add(scene)
            let names =
                beginning.isEmpty ? "captions" : "caption " + beginning.map { "\($0 + 1)" }.joined(separator: ", ")
            let place = "\(names) at \(rate.timeCode(scene.start))"
            if placement.isDropped {
                notes.add("\(place): skipped, no room to send it")
            } else if placement.delay > 0 {
                notes.add("\(place): \(placement.delay) frames late, no room to send it earlier")
            }
            if placement.layout.findings.contains(.character) { notes.add("\(place): characters were replaced") }
            if placement.layout.findings.contains(.height) { notes.add("\(place): text was skipped") }
        }
        schedule.finish()
        return (Array(text(of: schedule.transmissions, rate: rate).utf8), notes.notes)
    }

    private static func text(of transmissions: [CEA608Schedule.Transmission], rate: TimeCodeRate) -> String {
        var text = "Scenarist_SCC V1.0"
        var next: Int64?
        for transmission in transmissions.sorted(by: { $0.frame < $1.frame }) {
            if transmission.frame != next {
                text += "\n\n" + rate.timeCode(transmission.frame) + "\t"
            } else {
                text += " "
            }
            text += transmission.words.map { $0.hexadecimal(4) }.joined(separator: " ")
            next = transmission.frame + Int64(transmission.words.count)
        }
        return text + "\n"
    }
}
