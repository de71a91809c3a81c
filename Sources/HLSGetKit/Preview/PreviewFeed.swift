package import HLSKitCore

package final class PreviewFeed: Sendable {
    private let screen: PreviewScreen
    private let clock: ContinuousClock

    package init(_ screen: PreviewScreen, clock: ContinuousClock) {
        self.screen = screen
        self.clock = clock
    }

    package func add(_ item: PlayerItem) throws(HLSError) {
        let output = VideoOutput(displaySize: screen.layout.imageSize, colorPolicy: .convert(to: .rec709))
        try item.add(output)
        let (screen, clock, frames) = (screen, clock, output.frames())
        Task.detached {
            var pace = PreviewPace(rate: screen.format.rate)
            for await frame in frames {
                let began = clock.now
                guard pace.isDue(at: HostTime(began)) else { continue }
                let size = screen.layout.imageSize
                if output.displaySize != size { output.displaySize = size }
                guard let image = try? StillImage(frame, maximumSize: size, appliesPreferredTransform: true) else {
                    continue
                }
                screen.show(image)
                pace.note(began: HostTime(began), ended: HostTime(clock.now))
            }
        }
    }
}

/// Determines when to show the next image, limited by the useful frame rate and the terminal's speed.
struct PreviewPace: Sendable {
    private let interval: Duration
    private var due = HostTime.zero

    init(rate: Int) { interval = .seconds(1) / max(1, rate) }

    func isDue(at now: HostTime) -> Bool { now >= due }

    /// Notes the time of an image. After a slow one, it leaves the same time for other work.
    mutating func note(began: HostTime, ended: HostTime) {
        // Accept a frame that is slightly early.
        due = max(began + interval - interval / 8, ended + (ended - began))
    }
}
