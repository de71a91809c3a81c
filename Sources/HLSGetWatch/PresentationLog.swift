import HLSGetKit
import HLSKitCore
import Synchronization

/// Writes the file of `--presentation-log`: a JSON line for each presented frame and audio buffer.
///
/// `time` is in seconds of the machine's clock. For audio it is when the device plays it, as far as SDL reports that.
final class PresentationLog: Sendable {
    private struct State {
        let file: OutputFile
        var error: HLSError?
    }

    private let state: Mutex<State>

    init(path: String, overwrite: Bool) throws(HLSError) {
        state = Mutex(State(file: try OutputFile(path: path, overwrite: overwrite)))
    }

    func note(_ frame: VideoFrame, itemTime: MediaTime, due: HostTime, lateness: Duration, at moment: HostTime) {
        write([
            "type": "video", "time": .number(moment.offset / .seconds(1)),
            "item_time": JSONValue(itemTime.finiteSeconds), "due": .number(due.offset / .seconds(1)),
            "lateness": .number(lateness / .seconds(1)), "height": .integer(frame.height),
            "luma": .integer(Self.luma(of: frame)),
        ])
    }

    func note(_ buffer: AudioOutput.Buffer, at frame: Int, due: HostTime) {
        write([
            "type": "buffer", "frame": .integer(frame), "frame_count": .integer(buffer.frameCount),
            "item_time": JSONValue(buffer.itemTimeRange.start.finiteSeconds), "due": .number(due.offset / .seconds(1)),
        ])
    }

    /// Logs a device period that contains audio and is audible from `moment` on.
    func noteHeard(frame: Int, at moment: HostTime, peak: Float) {
        write([
            "type": "audio", "time": .number(moment.offset / .seconds(1)), "frame": .integer(frame),
            "peak": .number(Double(peak)),
        ])
    }

    func finish() -> HLSError? {
        state.withLock { state in
            do throws(HLSError) {
                if let error = state.error { throw error }
                try state.file.commit()
                return nil
            } catch {
                return error
            }
        }
    }

    private func write(_ line: JSONValue) {
        let bytes = Array((line.text + "\n").utf8)
        state.withLock { state in
            guard state.error == nil else { return }
            do throws(HLSError) { try state.file.write(bytes) } catch { state.error = error }
        }
    }

    private static func luma(of frame: VideoFrame) -> Int {
        frame.withPlanes { planes in
            guard let plane = planes.first, plane.rowCount > 0, plane.pictureBytesPerRow > 0 else { return 0 }
            var (sum, count) = (0, 0)
            for row in stride(from: 0, to: plane.rowCount, by: 16) {
                for column in stride(from: 0, to: plane.pictureBytesPerRow, by: 16) {
                    sum += Int(plane.bytes[row * plane.bytesPerRow + column])
                    count += 1
                }
            }
            return sum / max(1, count)
        }
    }
}
