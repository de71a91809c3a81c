import Glibc

/// A thread of a transport or decoder, because the cooperative thread pool must never block.
package enum WorkerThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a detached thread.
    ///
    /// All signals are blocked in it and in the threads that it starts. So the app's own threads receive the signals of
    /// the process, and writing to a closed connection returns an error code instead of raising SIGPIPE.
    ///
    /// - Returns: False if the system cannot create another thread (`pthread_create`).
    package static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        // Allocated because the initializer of the type may belong to another C module that includes it.
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))

        // The new thread inherits the mask, so it never receives a signal.
        var all = sigset_t()
        var previous = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }

        let box = Unmanaged.passRetained(Body(run))
        var thread: pthread_t = 0
        let result = pthread_create(
            &thread, attributes,
            { context in
                guard let context else { return nil }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        if result != 0 { box.release() }
        return result == 0
    }
}
