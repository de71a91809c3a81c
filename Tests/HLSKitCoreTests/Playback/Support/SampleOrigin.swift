import Foundation
import Synchronization
import TestSupport

/// An nginx that serves the sample below `sample/`, shared by the tests that only read it.
enum SampleOrigin {
    private static let origin = Mutex<TestOrigin?>(nil)

    static func shared() throws -> TestOrigin {
        try origin.withLock { origin in
            if let origin { return origin }
            let new = try TestOrigin()
            try SampleMedia.copy(to: new.root)
            origin = new
            atexit { SampleOrigin.origin.withLock { $0 = nil } }
            return new
        }
    }
}
